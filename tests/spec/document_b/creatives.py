"""Document B, "Endpoints": account media, cards, the media library, posting."""

from tests.spec.document_b.common import COUNT, CREATIVES, IDS, JSON, PAGING, POSTS, SORT, TOTAL
from tests.spec.table import Section, beyond, row

ENDPOINTS = (
    Section(
        "Account media",
        "operations/test_account_media.py",
        (
            row("GET /12/accounts/:account_id/account_media: account_media_ids (up to 200), count "
                "(default 200, 1 to 1000), creative_types (comma-separated enum), cursor, sort_by, "
                "with_deleted, with_total_count", "test_account_media_ids",
                "test_each_creative_type_shows_something", "test_several_creative_types", *COUNT,
                TOTAL, SORT, IDS, f"{CREATIVES}test_with_deleted",
                *PAGING, op="account_media.list"),
            row("GET /12/accounts/:account_id/account_media/:account_media_id: with_deleted",
                f"{CREATIVES}test_one_with_deleted", f"{CREATIVES}test_one_is_read_as_listed",
                op="account_media.get"),
            row("DELETE the same path: returns record with deleted true",
                f"{CREATIVES}test_with_deleted", f"{CREATIVES}test_second_delete",
                op="account_media.delete"),
        ),
    ),
    Section(
        "Cards",
        "operations/test_cards.py",
        (
            row("GET /12/accounts/:account_id/cards: card_types (comma-separated enum), card_id "
                "(up to 200), card_uris (up to 200), count (default 100, 1 to 200), cursor, "
                "include_legacy_cards (default false), q (case-insensitive name prefix, at most 80 "
                "characters), sort_by, with_deleted", "TestList::test_each_card_type",
                "TestList::test_several_card_types", "TestList::test_ids",
                "TestList::test_card_uris", "TestList::test_legacy_cards", "TestList::test_q",
                "TestList::test_length_of_q", *COUNT, TOTAL, SORT, IDS,
                f"{CREATIVES}test_with_deleted", *PAGING, op="cards.list"),
            row("Only cards created through the card create endpoint are returned",
                "TestList::test_other_cards_do_not_join", "TestCreate::test_answer"),
            row("GET /12/accounts/:account_id/cards/:card_id: with_deleted",
                f"{CREATIVES}test_one_with_deleted", f"{CREATIVES}test_one_is_read_as_listed",
                op="cards.get"),
            row("POST /12/accounts/:account_id/cards, JSON body: name (required, max 80), "
                "components (array) or slides (array of arrays, for multi-destination carousels), "
                "never both. Response: the card", "TestCreate::test_answer",
                "TestCreate::test_name", "TestCreate::test_components_or_slides",
                "TestType::test_slides", "TestCreate::test_number_of_slides", JSON,
                op="cards.create"),
            row("PUT /12/accounts/:account_id/cards/:card_id, JSON body with name, components or "
                "slides; each supplied field replaces the stored one", "TestUpdate::test_name",
                "TestUpdate::test_components", "TestUpdate::test_to_slides_and_back",
                "TestUpdate::test_both", "TestUpdate::test_name_outside", JSON, op="cards.update"),
            row("DELETE /12/accounts/:account_id/cards/:card_type/:card_id for legacy card types; "
                "returns the record with deleted true", "TestDelete::test_legacy",
                "TestDelete::test_not_found", "TestDelete::test_unknown_type", op="cards.delete"),
            row("A card is attached to a post through the card_uri parameter of post creation",
                "operations/test_post.py::TestCard::test_known",
                "operations/test_post.py::TestCard::test_unknown"),
            beyond("scheduled posts and draft posts", "their endpoints are not shown"),
        ),
    ),
    Section(
        "Media library",
        "operations/test_media_library.py",
        (
            row("GET /12/accounts/:account_id/media_library: count (default 20, 1 to 50), cursor, "
                "media_type (GIF, IMAGE, VIDEO), q (case-insensitive term match over name, title, "
                "file_name, description; length 1 to 255)", "test_media_type",
                "test_unknown_media_type", "test_search", "test_length_of_q",
                "test_search_within_a_type", *COUNT, *PAGING, op="media_library.list"),
            row("GET /12/accounts/:account_id/media_library/:media_key",
                f"{CREATIVES}test_one_is_read_as_listed", f"{CREATIVES}test_one_with_deleted",
                op="media_library.get"),
            row("POST /12/accounts/:account_id/media_library: media_key (required, returned by "
                "media upload when a media category was given), description, file_name, name, "
                "poster_media_key (default is first frame), title", "test_add_image",
                "test_add_gif", "test_add_video", "test_media_key_is_required",
                "test_media_category_is_needed", "test_poster_is_first_frame",
                op="media_library.create"),
            row("Description, poster_media_key and title apply only to videos", "test_video_only",
                "test_all_violations_at_once"),
            row("A video of category AMPLIFY_VIDEO also becomes a PREROLL account media asset",
                "operations/test_account_media.py::test_amplify_video_becomes_preroll",
                "operations/test_account_media.py::test_other_videos_become_nothing"),
            row("PUT /12/accounts/:account_id/media_library/:media_key: description, file_name, "
                "name, poster_media_key, title", "test_update", "test_lengths", "test_video_only",
                op="media_library.update"),
            row("DELETE /12/accounts/:account_id/media_library/:media_key: returns record with "
                "deleted true", f"{CREATIVES}test_with_deleted", f"{CREATIVES}test_second_delete",
                op="media_library.delete"),
        ),
    ),
    Section(
        "Poll cards",
        "operations/test_cards_poll.py",
        (
            row("GET /12/accounts/:account_id/cards/poll: card_ids (up to 200), count (default "
                "200, 1 to 1000), cursor, q (prefix, max 80), sort_by, with_deleted, "
                "with_total_count", "test_card_ids", "test_q", *COUNT, TOTAL, SORT, IDS,
                f"{CREATIVES}test_with_deleted", *PAGING, op="cards_poll.list"),
            row("GET /12/accounts/:account_id/cards/poll/:card_id: with_deleted",
                f"{CREATIVES}test_one_is_read_as_listed", f"{CREATIVES}test_one_with_deleted",
                op="cards_poll.get"),
            row("POST /12/accounts/:account_id/cards/poll: duration_in_minutes (int, required, 5 "
                "to 10080), first_choice (required), second_choice (required), name (required), "
                "third_choice (needs first and second), fourth_choice (needs first, second and "
                "third)", "test_text_poll", "test_duration", "test_required",
                "test_choices_need_those_before", op="cards_poll.create"),
            row("media_key (optional, write-only, media must be in the library; the response gives "
                "a URL)", "test_video_poll", "test_media_must_be_in_the_library"),
            row("DELETE /12/accounts/:account_id/cards/poll/:card_id: hard delete",
                "test_hard_delete", op="cards_poll.delete"),
        ),
    ),
    Section(
        "Video conversation cards",
        "operations/test_cards_video_conversation.py",
        (
            row("GET /12/accounts/:account_id/cards/video_conversation: card_ids (up to 200), "
                "count (default 200, 1 to 1000), cursor, q, sort_by, with_deleted, "
                "with_total_count", "test_card_ids", "test_q", *COUNT, TOTAL, SORT, IDS,
                f"{CREATIVES}test_with_deleted", *PAGING, op="cards_video_conversation.list"),
            row("GET .../video_conversation/:card_id: with_deleted",
                f"{CREATIVES}test_one_is_read_as_listed", f"{CREATIVES}test_one_with_deleted",
                op="cards_video_conversation.get"),
            row("POST .../video_conversation: required first_cta, first_cta_post, media_key "
                "(library video, aspect 16:9), name, thank_you_text", "test_create",
                "test_required", "test_unfit_media", "test_aspect",
                "test_video_must_be_in_the_library", op="cards_video_conversation.create"),
            row("Optional title (required if second_cta absent), second_cta (required if title "
                "absent)", "test_title_or_second"),
            row("second_cta_post (required if second_cta set)", "test_pairs"),
            row("poster_media_key, third_cta, third_cta_post (required if third_cta), fourth_cta, "
                "fourth_cta_post (required if fourth_cta), thank_you_url, "
                "unlocked_image_media_key (write-only), unlocked_video_media_key", "test_pairs",
                "test_create_with_everything", "test_unfit_media", "test_thank_you_url"),
            row("PUT .../video_conversation/:card_id: the same fields, all optional", "test_update",
                "test_update_keeps_the_rules", "test_update_of_nothing", "test_unset",
                "test_update_of_media", op="cards_video_conversation.update"),
        ),
    ),
    Section(
        "Posting on behalf of an advertiser",
        "operations/test_post.py",
        (
            row("POST /12/accounts/:account_id/post", "test_post_object", "test_echo",
                op="post.create"),
            row("as_user_id: required, advertiser's user ID; the advertiser must have granted the "
                "caller's handle access to the ad account", "TestUser::test_required",
                "TestUser::test_granted", "TestUser::test_no_grant", "TestUser::test_unknown"),
            row("text: required if no media_keys", "TestText::test_required_without_media"),
            row("card_uri: optional", "TestCard::test_known", "TestCard::test_unknown",
                "TestCard::test_form"),
            row("conversation_settings: default EVERYONE; EVERYONE, FOLLOWING, MENTIONED_USERS",
                "test_conversation_settings", "test_all_violations_at_once"),
            row("conversation_settings: not returned by POST, returned by GET",
                "test_conversation_settings", "test_stored", f"{POSTS}test_of_a_new_post"),
            row("media_keys: comma-separated, up to 4 images, or 1 GIF, or 1 video",
                "TestMedia::test_inside", "TestMedia::test_outside"),
            row("name: max 80", "TestText::test_name"),
            row("nullcast: default true (promoted-only); false only for the authenticated user",
                "TestUser::test_nullcast"),
            row("trim_user: default false; only the author id remains in user",
                "TestUser::test_trim_user"),
            row("tweet_mode: compat or extended (neutral name post_mode)",
                "TestText::test_extended", "TestText::test_compat", "TestText::test_both_modes"),
            row("video_cta: VISIT_SITE, WATCH_NOW", "TestMedia::test_cta"),
            row("video_cta_value: value for the call to action", "TestMedia::test_cta",
                "TestMedia::test_video"),
            row("video_description: max 200", "TestMedia::test_video", "TestMedia::test_lengths"),
            row("video_title: max 70", "TestMedia::test_video", "TestMedia::test_lengths"),
            row("Response data is a post object (id, id_str, text, name, created_at, entities, "
                "user, counts and flags)", "test_post_object", "TestText::test_entities"),
            row("PUT /12/accounts/:account_id/posts/:post_id/name takes name (max 80)",
                f"{POSTS}test_length", f"{POSTS}test_required", f"{POSTS}test_unknown",
                f"{POSTS}test_stays", op="posts.update_name"),
            row("returns the post including conversation_settings, nullcast, tweet_type (neutral "
                "post_type, value PUBLISHED), scheduled_at, scheduled_status",
                f"{POSTS}test_answer"),
        ),
    ),
)  # fmt: skip
