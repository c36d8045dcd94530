"""The requests of each loop: the weather of two cities at once, then a report, which is wrong at first."""

import os

from pydantic import BaseModel

BASE_URL = os.environ["WEIR_URL"]
API_KEY = os.environ["WEIR_KEY"]
MODEL = os.environ["WEIR_MODEL"]
QUESTION = "How warm are Oslo and Rome? Report it."
AGAIN = "And how warm are they now?"
THOUGHT = "Both cities need a forecast."
"""What a model that thinks has thought before it calls its tools."""

WEATHER = {"Oslo": "7", "Rome": "19"}


class Report(BaseModel):
    """The report of the weather."""

    summary: str
    degrees: int


def check_report(report: Report) -> None:
    assert (report.summary, report.degrees) == ("Oslo 7, Rome 19", 26), report


def check_cities(cities: list[str]) -> None:
    """Checks that the tool was called once for each city, by two calls of one answer."""
    assert sorted(cities) == ["Oslo", "Rome"], cities
