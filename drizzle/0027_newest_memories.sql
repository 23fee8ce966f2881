DROP INDEX "memories_newest";--> statement-breakpoint
CREATE INDEX "memories_newest" ON "memories" USING btree ("agent_id","updated_at","id");