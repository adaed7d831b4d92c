const FALLBACK = 'en'

/**
 * Returns a language tag that `Intl` accepts. Some systems give browsers names such as `de_DE.UTF-8` or `en-US@posix`.
 */
export function normalizeTag (tag: string): string {
  const plain = tag.replace(/[@.].*$/, '').replaceAll('_', '-')
  try {
    return Intl.getCanonicalLocales(plain)[0] ?? FALLBACK
  } catch {
    return FALLBACK
  }
}

/** Gives the page a valid language of the browser, because packages pass it to `Intl`, which throws for others. */
export function repairLanguage (browser: { readonly language: string }): void {
  const language = normalizeTag(browser.language)
  if (language !== browser.language) Object.defineProperty(browser, 'language', { value: language, configurable: true })
}
