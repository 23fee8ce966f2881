ALTER TABLE "users" ADD COLUMN "password_set_by" uuid;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "password_organization" uuid;