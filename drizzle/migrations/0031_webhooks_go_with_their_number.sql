DROP TABLE `delivery_claims`;--> statement-breakpoint
DROP INDEX `chat_state_held`;--> statement-breakpoint
CREATE INDEX `chat_state_held` ON `chat_state` (`device_id`,`held_until`) WHERE held_until is not null;