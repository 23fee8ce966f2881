ALTER TABLE "outbox" DROP CONSTRAINT "outbox_conversation_id_conversations_id_fk";
--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "turns_lost_decided" ON "turns" USING btree ("created_at") WHERE "turns"."status" = 'lost' and "turns"."continues" is not null;