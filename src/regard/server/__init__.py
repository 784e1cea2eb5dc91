"""The service: models behind an HTTP API, in batches gathered from many clients.

`config` says what is served and within which limits; `registry` opens the models and replaces them; `batching` gathers
the work of many requests; `operations` are the routes of the tasks, each a body, a batch and a result; `guards` protect
the app; `app` puts them together; `run` listens; `client` calls it. Nothing here is imported by what trains and
predicts, and only `app`, `guards`, `operations` and `run` need the extra ``serve``.
"""
