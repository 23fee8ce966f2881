-- The statement that authenticates a request holds these tables while it waits for the others of them.
LOCK TABLE "access_tokens", "users", "organizations", "installation", "conversations" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
CREATE TABLE "roles" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"key" text NOT NULL,
	"name" text NOT NULL,
	"permissions" text[] NOT NULL,
	"all_workspaces" boolean DEFAULT false NOT NULL,
	"created_by" uuid,
	"updated_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "retention_policies" (
	"organization_id" uuid NOT NULL,
	"subject" text NOT NULL,
	"enabled" boolean DEFAULT false NOT NULL,
	"days" integer NOT NULL,
	"enabled_at" timestamp (3) with time zone,
	"next_run_at" timestamp (3) with time zone,
	"last_run_at" timestamp (3) with time zone,
	"updated_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "retention_policies_organization_id_subject_pk" PRIMARY KEY("organization_id","subject")
);
--> statement-breakpoint
CREATE TABLE "plugin_packages" (
	"organization_id" uuid NOT NULL,
	"namespace" text NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	CONSTRAINT "plugin_packages_organization_id_namespace_pk" PRIMARY KEY("organization_id","namespace")
);
--> statement-breakpoint
ALTER TABLE "access_tokens" DROP CONSTRAINT "access_tokens_kind";--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "legal_hold" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "access_tokens" ADD COLUMN "scope" text;--> statement-breakpoint
ALTER TABLE "access_tokens" ADD COLUMN "permissions" text[];--> statement-breakpoint
ALTER TABLE "installation" ADD COLUMN "mail_relay" "bytea";--> statement-breakpoint
ALTER TABLE "installation" ADD COLUMN "mail_relay_key_id" text;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "deleted_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "is_platform_admin" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "active" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "roles" ADD CONSTRAINT "roles_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "retention_policies" ADD CONSTRAINT "retention_policies_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "plugin_packages" ADD CONSTRAINT "plugin_packages_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "roles_organization_key" ON "roles" USING btree ("organization_id","key");--> statement-breakpoint
CREATE INDEX "retention_policies_due" ON "retention_policies" USING btree ("next_run_at") WHERE "retention_policies"."enabled";--> statement-breakpoint
CREATE INDEX "users_platform_admins" ON "users" USING btree ("id") WHERE "users"."is_platform_admin";--> statement-breakpoint
ALTER TABLE "access_tokens" ADD CONSTRAINT "access_tokens_scope" CHECK ("access_tokens"."scope" in ('organization', 'installation'));--> statement-breakpoint
ALTER TABLE "access_tokens" ADD CONSTRAINT "access_tokens_kind" CHECK ("access_tokens"."kind" in ('session', 'management', 'personal', 'impersonation'));