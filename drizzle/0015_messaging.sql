CREATE TABLE "opt_outs" (
	"agent_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"sender" text NOT NULL,
	"channel_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "opt_outs_agent_id_channel_sender_pk" PRIMARY KEY("agent_id","channel","sender")
);
--> statement-breakpoint
ALTER TABLE "inbox" DROP CONSTRAINT "inbox_status";--> statement-breakpoint
ALTER TABLE "outbox" DROP CONSTRAINT "outbox_status";--> statement-breakpoint
DROP INDEX "outbox_due";--> statement-breakpoint
DROP INDEX "outbox_agent";--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "transport" text;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "followed_by" uuid;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "followed_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "last_received_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "last_sent_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "restarts" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "error" text;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "may_be_repeated" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "sent_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "opt_outs" ADD CONSTRAINT "opt_outs_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "opt_outs_channel" ON "opt_outs" USING btree ("agent_id","channel","channel_id");--> statement-breakpoint
CREATE INDEX "channels_followed" ON "channels" USING btree ("followed_until") WHERE "channels"."enabled" and "channels"."transport" <> 'webhook';--> statement-breakpoint
CREATE INDEX "inbox_age" ON "inbox" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "outbox_unsent" ON "outbox" USING btree ("agent_id","channel","target") WHERE "outbox"."status" in ('pending', 'sending');--> statement-breakpoint
CREATE INDEX "outbox_age" ON "outbox" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "outbox_agent" ON "outbox" USING btree ("agent_id","created_at");--> statement-breakpoint
ALTER TABLE "outbox" DROP COLUMN "run_at";--> statement-breakpoint
ALTER TABLE "inbox" ADD CONSTRAINT "inbox_status" CHECK ("inbox"."status" in ('pending', 'done', 'dropped', 'failed'));--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_status" CHECK ("outbox"."status" in ('pending', 'sending', 'sent', 'failed'));