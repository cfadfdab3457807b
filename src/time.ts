const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** True for an RFC 3339 date-time, with `Z` or an offset, of a day that exists in the years 0001 to 9999 of UTC. */
export function isTime(text: string): boolean {
  const [, year, month, day] = DATE_TIME.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  // JavaScript turns 30 February into 2 March
  if (day > daysOf(year, month)) return false;
  const utcYear = new Date(text).getUTCFullYear();
  return utcYear >= 1 && utcYear <= 9_999;
}

/** 0 for a month that does not exist. */
function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  if (month < 1 || month > 12) return 0;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
