-- What stores a memory holds "memories" while it waits for "conversations", and the next migration changes both.
LOCK TABLE "memories", "conversations" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "title_due_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "follow_up_due_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "conversations_title_due" ON "conversations" USING btree ("agent_id","title_due_at","id") WHERE "conversations"."title_due_at" is not null;--> statement-breakpoint
CREATE INDEX "conversations_follow_up_due" ON "conversations" USING btree ("agent_id","follow_up_due_at","id") WHERE "conversations"."follow_up_due_at" is not null;