CREATE TABLE "inbox" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"provider_id" text NOT NULL,
	"conversation_id" uuid NOT NULL,
	"seq" integer NOT NULL,
	"sender" text NOT NULL,
	"payload" jsonb NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"turn_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "inbox_status" CHECK ("inbox"."status" in ('pending', 'done', 'dropped'))
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" uuid NOT NULL,
	"conversation_id" uuid,
	"channel" text NOT NULL,
	"target" text NOT NULL,
	"turn_id" uuid,
	"part" integer DEFAULT 0 NOT NULL,
	"body" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"run_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"provider_message_id" text,
	"error" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "outbox_status" CHECK ("outbox"."status" in ('pending', 'sent', 'failed'))
);
--> statement-breakpoint
ALTER TABLE "inbox" ADD CONSTRAINT "inbox_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "inbox" ADD CONSTRAINT "inbox_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_provider_id" ON "inbox" USING btree ("agent_id","channel","provider_id");--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_seq" ON "inbox" USING btree ("conversation_id","seq");--> statement-breakpoint
CREATE INDEX "inbox_pending" ON "inbox" USING btree ("created_at") WHERE "inbox"."status" = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "outbox_part" ON "outbox" USING btree ("turn_id","part") WHERE "outbox"."turn_id" is not null;--> statement-breakpoint
CREATE INDEX "outbox_agent" ON "outbox" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "outbox_conversation" ON "outbox" USING btree ("conversation_id") WHERE "outbox"."conversation_id" is not null;--> statement-breakpoint
CREATE INDEX "outbox_due" ON "outbox" USING btree ("run_at") WHERE "outbox"."status" = 'pending';