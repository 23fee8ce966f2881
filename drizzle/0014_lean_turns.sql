ALTER TABLE "conversations" DROP CONSTRAINT "conversations_source";--> statement-breakpoint
ALTER TABLE "messages" DROP CONSTRAINT "messages_role";--> statement-breakpoint
ALTER TABLE "turns" DROP CONSTRAINT "turns_status";--> statement-breakpoint
ALTER TABLE "messages" DROP CONSTRAINT "messages_conversation_id_conversations_id_fk";
--> statement-breakpoint
ALTER TABLE "turns" DROP CONSTRAINT "turns_conversation_id_conversations_id_fk";
