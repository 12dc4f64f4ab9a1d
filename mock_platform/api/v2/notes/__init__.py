"""Community notes: written, rated, deleted and listed."""

from mock_platform.api.v2.notes import evaluation, operations

OPERATIONS = (
    *operations.OPERATIONS,
    *evaluation.OPERATIONS,
)
TABLES = (*operations.TABLES,)
SPEC_SENTENCES = {
    "notes": "Community notes endpoints",
}
PUBLISHED_IDS = {
    "notes.create": "createCommunityNotes",
    "notes.delete": "deleteCommunityNotes",
    "notes.list_written": "searchCommunityNotesWritten",
    "notes.list_eligible": "searchEligiblePosts",
    "notes.evaluate": "evaluateCommunityNotes",
}
