-- The session that fills the list of new words adds them to the index: with PostgreSQL's own limit of 4 MB, a turn waits for
-- the words of thousands of messages.
ALTER INDEX "messages_search" SET (gin_pending_list_limit = 128);
