/** Who attaches. `user` is the phone number, `lid` the LID's digits, `device` 0 for the phone itself. */
export interface DeviceAddress {
  user: string;
  lid: string;
  device: number;
}
