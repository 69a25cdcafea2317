CREATE TABLE `delivery_claims` (
	`delivery_id` text PRIMARY KEY NOT NULL,
	`device_id` integer NOT NULL,
	`chat` text NOT NULL,
	`token` text NOT NULL,
	`node` text NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `delivery_claims_chat` ON `delivery_claims` (`device_id`,`chat`);--> statement-breakpoint
CREATE INDEX `delivery_claims_until` ON `delivery_claims` (`until`);