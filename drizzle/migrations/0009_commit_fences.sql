CREATE TABLE `commit_fences` (
	`writer` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`before_seq` integer NOT NULL,
	`at` integer NOT NULL
);
