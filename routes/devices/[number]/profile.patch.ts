import { defineApi } from "../../../src/api/define-api.ts";
import { changeProfile } from "../../../src/api/endpoints/profiles.ts";
import { changeProfileOf } from "../../../src/api/work/profiles.ts";

/** `PATCH /devices/{number}/profile`: what is not given stays as it is. */
export default defineApi(changeProfile, changeProfileOf);
