/** IGDB's identifiers of localisation regions, by region code. Undefined stands for IGDB's default text. */
const IDENTIFIERS: Readonly<Record<string, string | undefined>> = {
  us: undefined, wor: undefined, eu: 'EU', jp: 'ja-JP', kr: 'ko-KR', cn: 'zh-CN', tw: 'zh-TW'
}

/**
 * Returns the identifier of the preferred localisation, that of the first region for which IGDB has texts; undefined
 * for none.
 *
 * @param codes the operator's preferred regions; a ROM's own regions come first if the operator prefers that
 */
export function chooseRegion (codes: readonly string[]): string | undefined {
  const code = codes.find((code) => Object.hasOwn(IDENTIFIERS, code))
  return code === undefined ? undefined : IDENTIFIERS[code]
}
