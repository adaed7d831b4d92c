/** Parts of a DAT's name that change with each version: dates, versions and counts in parentheses. */
const VERSION_GROUP = /\s*\((?:[^()]*\d{4}-?\d\d-?\d\d[^()]*|TOSEC-v[^()]*|\d+)\)/gi
const DATE_GROUP = /\(([^()]*\d{4}-?\d\d-?\d\d[^()]*)\)/

/** Returns the part of a DAT's name that all its versions have in common. */
export const datKey = (name: string): string =>
  name.replace(VERSION_GROUP, '').replaceAll(/\s+/g, ' ').trim().toLowerCase()

/** Returns the version of a DAT: what it states, or the date in its name. */
export const versionOf = ({ name, version, date }: { name: string, version: string, date: string }): string =>
  version || DATE_GROUP.exec(name)?.[1] || date

const numbersOf = (version: string) => version.match(/\d+/g) ?? []

/** The form of a version: two versions compare if their separators are equal. */
const formOf = (version: string) => version.replaceAll(/\d+/g, '0')

/** True if a version is certainly older than another one. Versions of different forms do not compare. */
export function isOlder (version: string, than: string): boolean {
  if (version === '' || formOf(version) !== formOf(than)) return false
  const others = numbersOf(than).map(Number)
  for (const [index, number] of numbersOf(version).map(Number).entries()) {
    const other = others[index] ?? 0
    if (number !== other) return number < other
  }
  return false
}
