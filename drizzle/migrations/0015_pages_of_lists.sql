DROP INDEX `api_keys_account`;--> statement-breakpoint
CREATE INDEX `api_keys_listed` ON `api_keys` (`account_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `accounts_listed` ON `accounts` (`created_at`);--> statement-breakpoint
CREATE INDEX `channels_listed` ON `channels` (`device_id`,`created_at`);