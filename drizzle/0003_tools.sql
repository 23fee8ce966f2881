CREATE TABLE "tool_calls" (
	"id" uuid PRIMARY KEY NOT NULL,
	"turn_id" uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"tool_call_id" text NOT NULL,
	"name" text NOT NULL,
	"args" jsonb,
	"status" text NOT NULL,
	"decided_by" uuid,
	"reason" text,
	"expires_at" timestamp (3) with time zone,
	"duration_ms" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tool_calls_status" CHECK ("tool_calls"."status" in ('executed', 'failed', 'pending', 'approved', 'refused', 'expired'))
);
--> statement-breakpoint
ALTER TABLE "plugins" ADD COLUMN "tools" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "plugins" ADD COLUMN "status" text;--> statement-breakpoint
ALTER TABLE "plugins" ADD COLUMN "last_error" text;--> statement-breakpoint
ALTER TABLE "plugins" ADD COLUMN "refreshed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "awaiting" uuid;--> statement-breakpoint
ALTER TABLE "turns" ADD COLUMN "suspended" jsonb;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_turn_id_turns_id_fk" FOREIGN KEY ("turn_id") REFERENCES "public"."turns"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "tool_calls_turn_call" ON "tool_calls" USING btree ("turn_id","tool_call_id");--> statement-breakpoint
CREATE INDEX "tool_calls_agent" ON "tool_calls" USING btree ("agent_id","created_at");--> statement-breakpoint
CREATE INDEX "tool_calls_pending" ON "tool_calls" USING btree ("expires_at") WHERE "tool_calls"."status" = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "turns_continues" ON "turns" USING btree ("continues") WHERE "turns"."continues" is not null;--> statement-breakpoint
CREATE INDEX "turns_approval" ON "turns" USING btree ("finished_at") WHERE "turns"."status" = 'approval';