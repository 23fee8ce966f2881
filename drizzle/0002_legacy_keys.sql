ALTER TABLE "access_tokens" ALTER COLUMN "digest" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "access_tokens" ADD COLUMN "legacy_hash" text;--> statement-breakpoint
CREATE INDEX "access_tokens_legacy" ON "access_tokens" USING btree ("prefix") WHERE "access_tokens"."legacy_hash" is not null;--> statement-breakpoint
ALTER TABLE "access_tokens" ADD CONSTRAINT "access_tokens_verifiable" CHECK ("access_tokens"."digest" is not null or "access_tokens"."legacy_hash" is not null);