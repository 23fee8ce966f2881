-- The column keeps the words that PostgreSQL found in older messages. None of them is read, and no row is written anew.
ALTER TABLE "messages" ALTER COLUMN "search" DROP EXPRESSION;--> statement-breakpoint
ALTER TABLE "messages" ALTER COLUMN "search" SET DEFAULT array_to_tsvector(array[' ']);
