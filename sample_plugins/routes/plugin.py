"""Sample: own HTTP paths below ``/plugin/sample-routes/`` and files below ``/static/plugins/sample-routes/``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from host import Plugin, access, hookimpl


@access("anyone")
def hello(request: Request) -> Response:
    """Greet whoever asks, signed in or not."""
    return PlainTextResponse(f"Hello, {request.query_params.get('name', 'stranger')}!")


# Without `access` an endpoint is for signed-in users. The host has checked that before the endpoint runs.
def whoami(request: Request) -> Response:
    """Tell callers who they are."""
    return JSONResponse({"id": request.user.id, "username": request.user.username})


# Plain functions run in a thread, coroutines in an event loop. Reading the body needs a coroutine.
@access("staff")
async def count_words(request: Request) -> Response:
    """Count the words of the text that was sent."""
    text = (await request.body()).decode(errors="replace")
    return JSONResponse({"words": len(text.split())})


class SampleRoutes(Plugin):
    """Serves a few pages; endpoints can be functions and methods."""

    title = "Sample: routes"
    description = "Serves own paths, one for each kind of caller, and a static page"

    @hookimpl
    def routes(self) -> Sequence[Route]:
        return [
            Route("/hello/", hello),
            Route("/whoami/", whoami),
            Route("/words/", count_words, methods=["POST"]),
            Route("/shelves/{number:int}/", self.shelf),
            Route("/about/", self.about),
        ]

    # Needed only because the folder is not called `static`.
    @hookimpl
    def static_folder(self) -> Path:
        return Path(__file__).parent / "files"

    async def shelf(self, request: Request) -> Response:
        """Describe a shelf, with its number taken from the path."""
        return JSONResponse({"shelf": request.path_params["number"], "page": self.static_url("index.html")})

    @access("superuser")
    def about(self, request: Request) -> Response:
        """Tell which version runs where."""
        return JSONResponse({"version": self.identity.version, "host": request.url.hostname})
