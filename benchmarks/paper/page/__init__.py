"""The page ``report.html``: the paper's order, its figures, and a verdict on every claim.

1. ``paper_order``: sections, figures and tables as the paper numbers them
2. ``html``: tables, figures and notes as HTML; ``inline_svg``: a drawing that follows the colours
   of the page; ``looks``: the colour and the mark of every method
3. ``setting_chain``: the settings of the paper's methods, and which is shown first;
   ``illustrations``: Figures 1 to 3; ``curves``: anything over an axis; ``method_curves``: Figures
   4 and 5; ``face_pictures``: Figure 6; ``label_counts``: Figures 7 and 8; ``bars``: the two
   tables as pictures; ``sensitivity``: Figures 9 and 10; ``elimination_rounds``: Figure
   11; ``iterations``: Section 7.5
4. ``opening``: what reproduces and what does not, in words; ``settings_box``: every setting,
   read from the declarations; ``claim_cards``: the claims with their evidence
5. ``whole_page``: all of it, in ``page.html`` with ``page.css``
"""
