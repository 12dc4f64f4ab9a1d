"""Document B, "Limits": each with what tries it just inside and what tries it just outside."""

from tests.spec.table import Limit

CONVENTIONS = "spec/test_conventions.py::"
ITEMS = "operations/test_product_catalogs.py::"
AUDIENCES = "operations/test_custom_audiences.py::"
INSIGHTS = "operations/test_insights.py::"
CARDS = "operations/test_cards.py::"
LIBRARY = "operations/test_media_library.py::"
POST = "operations/test_post.py::"
POLL = "operations/test_cards_poll.py::"
TALK = "operations/test_cards_video_conversation.py::"
FORBIDDEN = f"{ITEMS}test_what_the_table_forbids_is_an_error_of_the_item"


def both(says: str, *tests: str) -> Limit:
    """A limit whose tests try both sides."""
    return Limit(says, tests, tests)


LIMITS = (
    both("Product upsert batch: 25 products per request",
         f"{ITEMS}test_a_request_holds_at_most_25_products"),
    both("Custom audience users batch: 2500 operations per request",
         f"{AUDIENCES}test_a_request_has_at_most_2500_operations"),
    both("Custom audience users batch: body at most 5,000,000 bytes",
         f"{AUDIENCES}test_a_body_has_at_most_five_million_bytes"),
    both("Custom audience users batch: 1500 requests per 1-minute window",
         f"{AUDIENCES}test_uploads_are_limited_to_1500_a_minute"),
    Limit("Keyword insights: 7 days maximum range", (f"{INSIGHTS}TestWindow::test_seven_days",),
          (f"{INSIGHTS}TestWindow::test_more_than_seven_days",)),
    Limit("Keyword insights: 10 keywords in total",
          (f"{INSIGHTS}TestParameters::test_ten_keywords",),
          (f"{INSIGHTS}TestParameters::test_eleven_keywords",)),
    both("Keyword insights: 30 related keywords returned",
         f"{INSIGHTS}test_always_thirty_related"),
    both("Product list count: 1 to 100, default 100", f"{ITEMS}test_count_is_1_to_100",
         f"{CONVENTIONS}test_the_bounds_of_count[product_catalogs.products.list]",
         f"{CONVENTIONS}test_the_default_count[product_catalogs.products.list]"),
    both("Card list count: 1 to 200, default 100",
         f"{CONVENTIONS}test_the_bounds_of_count[cards.list]",
         f"{CONVENTIONS}test_the_default_count[cards.list]"),
    both("Media library list count: 1 to 50, default 20",
         f"{CONVENTIONS}test_the_bounds_of_count[media_library.list]",
         f"{CONVENTIONS}test_the_default_count[media_library.list]"),
    both("Most other lists: count 1 to 1000, default 200",
         f"{CONVENTIONS}test_the_bounds_of_count", f"{CONVENTIONS}test_the_default_count"),
    both("ID filters: up to 200 identifiers", f"{CONVENTIONS}test_id_filters_take_200"),
    both("Requests with with_total_count: 200 per 15 minutes",
         f"{CONVENTIONS}test_the_total_is_limited_to_200_in_15_minutes",
         "test_platform.py::test_with_total_count_has_a_limit_of_200"),
    Limit("Field lengths: card name 80", (f"{CARDS}TestCreate::test_name",),
          (f"{CARDS}TestCreate::test_name", f"{CARDS}TestUpdate::test_name_outside")),
    Limit("Field lengths: card q 80", (f"{CARDS}TestList::test_q",),
          (f"{CARDS}TestList::test_length_of_q",)),
    both("Field lengths: media library q 1 to 255", f"{LIBRARY}test_length_of_q"),
    both("Field lengths: library name 100, file_name 255, title 70, description 200",
         f"{LIBRARY}test_lengths"),
    both("Field lengths: post name 80", f"{POST}TestText::test_name",
         "operations/test_posts.py::test_length"),
    both("Field lengths: poll choice 25", f"{POLL}test_length_of_choices"),
    both("Field lengths: conversation thank_you_text 23, title 23", f"{TALK}test_lengths"),
    both("Field lengths: CTA 20", f"{TALK}test_hashtags"),
    Limit("Field lengths: product title 150, product description 5000",
          (f"{ITEMS}test_what_the_table_allows_is_stored",),
          (f"{FORBIDDEN}[title is at most 150]", f"{FORBIDDEN}[description is at most 5000]")),
    both("Poll duration: 5 to 10080 minutes", f"{POLL}test_duration"),
    Limit("Swipeable media: 2 to 6 items", (f"{CARDS}TestCreate::test_swipeable_inside",),
          (f"{CARDS}TestCreate::test_swipeable_outside",)),
    Limit("Post media: up to 4 images, or 1 GIF, or 1 video", (f"{POST}TestMedia::test_inside",),
          (f"{POST}TestMedia::test_outside",)),
    Limit("Additional product images: up to 10",
          (f"{ITEMS}test_what_the_table_allows_is_stored[additional_image_link]",),
          (f"{FORBIDDEN}[ten additional images]",)),
)  # fmt: skip
