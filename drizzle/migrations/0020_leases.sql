CREATE TABLE `leases` (
	`p` integer PRIMARY KEY NOT NULL,
	`node` text,
	`heir` text,
	`epoch` integer NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `nodes` (
	`name` text PRIMARY KEY NOT NULL,
	`incarnation` text NOT NULL,
	`url` text,
	`version` text NOT NULL,
	`since` integer NOT NULL,
	`until` integer NOT NULL,
	`leaving` integer DEFAULT false NOT NULL,
	`numbers` integer DEFAULT 0 NOT NULL,
	`lag_ms` integer DEFAULT 0 NOT NULL
);
