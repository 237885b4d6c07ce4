"""The tables of the ledger's page."""

import re
from html.parser import HTMLParser

import pytest

from affscore.papers.claim import ClaimRow, Verdict
from affscore.papers.claim import claim as claim_of
from affscore.papers.comparison import VERDICTS, OurNumber, compare
from affscore.papers.ledger_page import claims_page, ledger_page
from affscore.papers.printed import PrintedNumber
from affscore.papers.results import CHOICES, Results
from affscore.papers.robustness import Robustness
from tests.synthetic_signatures import synthetic

ROWS = [
    compare(PrintedNumber("t", "a", "x", "0.62", "paper, figure 7", "relu <b>"), OurNumber(0.6241)),
    compare(PrintedNumber("t", "b", "x", "0.62", "paper, figure 7", "gelu"), OurNumber(0.7, why="a & b")),
    compare(
        PrintedNumber("t", "c", "x", "0.005", "paper, table 2", "alexnet"),
        analogue=(0.25, "mini:alexnet on digits"),
        command="affscore survey && affscore ledger",
    ),
    compare(
        PrintedNumber("t", "d", "x", "2012", "paper, figure 7", "year"), OurNumber(2012.0, exact=True, way="looked up")
    ),
]


class Table(HTMLParser):
    """The words of every cell, by source, and whether all that was opened was closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.source, self.options = [], [], "", []
        self.labels, self.heads = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag != "br":
            self.open.append(tag)
        self.source = given.get("data-source", self.source)
        if tag == "tr":
            self.rows.append((self.source, given.get("data-verdict"), []))
        if tag == "td":
            self.rows[-1][2].append("")
            self.labels.append(given["data-label"])
        if tag == "th":
            self.heads.append("")
        if tag == "option":
            self.options.append(given["value"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open:
            self.rows[-1][2][-1] += data
        if "th" in self.open:
            self.heads[-1] += data.replace("\xa0", " ")


@pytest.fixture(scope="module")
def page():
    return Table(ledger_page(ROWS))


def test_every_row_is_there_under_its_source(page):
    assert page.open == []
    cells = [(source, verdict, cells[0]) for source, verdict, cells in page.rows if cells]
    assert cells == [
        ("paper, figure 7", "reproduced", "relu <b>"),
        ("paper, figure 7", "differs", "gelu"),
        ("paper, figure 7", "reproduced", "year"),
        ("paper, table 2", "needs data", "alexnet"),
    ]


def test_a_source_that_is_folded_up_says_how_many_of_its_numbers_have_which_verdict():
    told = re.findall(r"<summary><strong>(.*?)</strong>: (.*?)</summary>", ledger_page(ROWS))
    assert told == [("paper, figure 7", "2 reproduced, 1 differs"), ("paper, table 2", "1 needs data")]


def test_a_row_shows_its_numbers_and_words(page):
    rows = {cells[0]: cells[1:] for _, _, cells in page.rows if cells}
    assert rows["relu <b>"] == ["0.62", "measured", "0.6241", "+0.0041", "reproducedwithin 0.005", ""]
    assert rows["gelu"] == ["0.62", "measured", "0.7000", "+0.0800", "differsa & b", ""]
    assert rows["alexnet"][:4] == ["0.005", "measured", "", ""]
    assert rows["alexnet"][4] == "needs datacommandaffscore survey && affscore ledger"
    assert rows["alexnet"][5] == "0.2500 (mini:alexnet on digits)"
    assert rows["year"][:4] == ["2012", "looked up", "2012", "+0"]


def test_each_cell_names_its_column_for_a_page_that_shows_rows_as_cards(page):
    assert page.labels == [name for _, _, cells in page.rows if cells for name in page.heads[:7]]
    assert page.heads == 2 * page.heads[:7]  # of two sources


def test_a_claim_of_no_scores_says_nothing_of_how_scores_are_measured():
    def accurate(results):
        """It is. Test: It is."""

    about = Results("networks", f"photographs, {CHOICES}")
    verdict = Verdict(None, "By 0.1.", 2, "9 trainings of 2 networks", "Undecided: as few as these.")
    for of_scores, shown in ((False, ""), (True, "photographs")):
        claim = claim_of(1, "section 4", "data", of_scores=of_scores)(accurate)
        page = Table(claims_page([ClaimRow(claim, about, verdict)]))
        (cells,) = (cells for _, _, cells in page.rows if cells)
        assert cells[3:] == [f"networks9 trainings of 2 networks{shown}", "By 0.1. Undecided: as few as these."]
        assert page.labels == page.heads


def test_one_can_choose_a_source_and_a_verdict(page):
    assert page.options == ["", "paper, figure 7", "paper, table 2", "", *VERDICTS]


def test_two_ledgers_on_a_page_do_not_share_a_filter():
    one, other = ledger_page(ROWS), ledger_page(ROWS, name="other")
    assert re.findall(r'getElementById\("(\w+)"\)', one + other) == ["ledger", "other"]


def test_claims_have_a_line_for_each_test():
    def relu(results):
        """ReLU & co.

        Test: It is below 0.1.
        """

    def other(results):
        """Other. Test: Test."""

    claim, open_one = claim_of(1, "section 4", "data")(relu), claim_of(2, "section 5", "ImageNet")(other)
    theirs = Results("the papers' networks", "one batch")
    small = Results("small networks", "5 seeds & more", analogue=True)
    measured = Results("networks", "one batch", signatures={"a": synthetic([0.05])})
    claims = [
        ClaimRow(claim, theirs, Verdict(True, "It is 0.1.", 4)),
        ClaimRow(claim, small, Verdict(False, "It is 0.5."), Robustness(1, 11, 0, (("order", "coupling"),))),
        ClaimRow(claim, measured, Verdict(True, "It is 0.1.", 1)),
        ClaimRow(open_one, Results(""), Verdict(None, "It takes ImageNet.")),
    ]
    page = Table(claims_page(claims))
    assert page.open == []
    rows = [cells for _, _, cells in page.rows if cells]
    assert rows[0] == [
        "ReLU & co.section 4testIt is below 0.1.",
        "holds",
        "",
        "the papers' networks4 networksone batch",
        "It is 0.1.",
    ]
    depends = "depends on the order and coupling togetherdoes not hold under the papers' choice"
    counts = "holds in 1 of 12, fails in 11"
    assert rows[1] == [depends, counts, "small networks (analogue)5 seeds & more", "It is 0.5."]
    assert rows[2][:3] == ["holds", "not asked again", "networksone training of one network, 2 batches of 512one batch"]
    assert rows[3][1:] == ["cannot be decided", "", "nothing that there is", "It takes ImageNet."]
