"""The page ``report.html``: the paper's order, its figures, and a verdict on every claim.

1. ``paper_order``: sections, figures and tables as the paper numbers them; ``setting_chain``: the
   settings of the paper's methods, and which is shown first
2. ``html``: tables, figures and notes as HTML; ``inline_svg``: a drawing that follows the colours
   of the page; ``data_address``: a picture inside it; ``method_looks``: the colour and the mark of
   every method; ``curves`` over an axis, and ``bars``
3. ``news_photo``: Figure 1; ``low_rank_example``: Figures 2 and 3; ``method_curves``: Figures 4
   and 5; ``face_pictures``: Figure 6; ``label_counts``: Figures 7 and 8; ``table_of_errors``:
   Tables 1 and 2; ``sensitivity``: Figures 9 and 10; ``rounds_of_ice``: Figure 11;
   ``iterations``: Section 7.5; ``premise``: how far the photos of Table 2 meet it;
   ``side_measurements``: what has commands of its own
4. ``opening``: what reproduces and what does not, in words; ``settings_box``: every setting,
   read from the declarations; ``claim_cards``: the claims with their evidence
5. ``whole_page``: all of it, in ``page.html`` with ``page.css``
"""
