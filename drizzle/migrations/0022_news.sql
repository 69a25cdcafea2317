CREATE TABLE `news` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`node` text NOT NULL,
	`topic` text NOT NULL,
	`item` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `news_age` ON `news` (`at`);--> statement-breakpoint
CREATE TABLE `send_counts` (
	`account_id` text NOT NULL,
	`day` integer NOT NULL,
	`sends` integer NOT NULL,
	PRIMARY KEY(`account_id`, `day`)
);
