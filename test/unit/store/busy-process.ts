/** Holds a database so that nobody may even read it, says `held`, lets it go after a second. Argument: database file. */
import Database from "libsql";

const database = new Database(process.argv[2]!);
database.exec("PRAGMA locking_mode = EXCLUSIVE");
database.exec("BEGIN IMMEDIATE");
console.log("held");
setTimeout(() => process.exit(0), 1_000);
