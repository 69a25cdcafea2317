import { defineApi } from "../../../src/api/define-api.ts";
import { getProfile } from "../../../src/api/endpoints/profiles.ts";
import { readProfile } from "../../../src/api/work/profiles.ts";

/** `GET /devices/{number}/profile`. */
export default defineApi(getProfile, readProfile);
