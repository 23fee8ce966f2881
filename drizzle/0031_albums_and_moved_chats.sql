CREATE TABLE "albums" (
	"agent_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"album_id" text NOT NULL,
	"is_meant" boolean NOT NULL,
	"parts" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "albums_agent_id_channel_album_id_pk" PRIMARY KEY("agent_id","channel","album_id")
);
--> statement-breakpoint
CREATE TABLE "moved_chats" (
	"agent_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"chat_id" text NOT NULL,
	"moved_to" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "moved_chats_agent_id_channel_chat_id_pk" PRIMARY KEY("agent_id","channel","chat_id")
);
--> statement-breakpoint
ALTER TABLE "albums" ADD CONSTRAINT "albums_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "moved_chats" ADD CONSTRAINT "moved_chats_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "albums_age" ON "albums" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "moved_chats_to" ON "moved_chats" USING btree ("agent_id","channel","moved_to");--> statement-breakpoint
CREATE INDEX "outbox_provider_message" ON "outbox" USING btree ("agent_id","provider_message_id") WHERE "outbox"."provider_message_id" is not null;