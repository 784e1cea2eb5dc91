"""The studio: a page on the service's routes, and pages that need no service.

`page/` is HTML, CSS and ES modules as a browser reads them; `app.py` serves them beside the routes; `offline.py` puts
them and recorded answers into one file.
"""
