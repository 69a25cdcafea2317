CREATE TABLE `audit_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`created_at` integer NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`actor_name` text,
	`account_id` text,
	`action` text NOT NULL,
	`target` text,
	`changes` blob,
	`request_id` text NOT NULL,
	`address` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_log_listed` ON `audit_log` (`created_at`);--> statement-breakpoint
CREATE INDEX `audit_log_account` ON `audit_log` (`account_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `links` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`account_id` text NOT NULL,
	`device_id` integer NOT NULL,
	`number` text NOT NULL,
	`made_by` text NOT NULL,
	`credential` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_used_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `links_hash_unique` ON `links` (`hash`);--> statement-breakpoint
CREATE INDEX `links_listed` ON `links` (`account_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `links_device` ON `links` (`device_id`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`kind` text NOT NULL,
	`credential` text NOT NULL,
	`account_id` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	`ends_at` integer NOT NULL,
	`address` text NOT NULL,
	`user_agent` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_hash_unique` ON `sessions` (`hash`);--> statement-breakpoint
CREATE INDEX `sessions_credential` ON `sessions` (`credential`,`last_used_at`);--> statement-breakpoint
CREATE INDEX `sessions_account` ON `sessions` (`account_id`);