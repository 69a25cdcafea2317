DROP INDEX `inbox_message`;--> statement-breakpoint
CREATE UNIQUE INDEX `inbox_message` ON `inbox` (`device_id`,`wa_id`,`chat`,`sender`);