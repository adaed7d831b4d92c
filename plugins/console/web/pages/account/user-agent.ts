/** The names of a browser or app and of its system, as far as they are known. */
export interface Agent { readonly app: string | null, readonly system: string | null, readonly isPhone: boolean }

/** In this order, because most browsers also carry the names of others. */
const APPS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgi?A?(?:iOS)?\//, 'Edge'], [/\bOPR\/|\bOpera/, 'Opera'], [/\bSamsungBrowser\//, 'Samsung Internet'], [/\bVivaldi\//, 'Vivaldi'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'], [/\bHeadlessChrome\/|\bChrome\/|\bCriOS\/|\bChromium\//, 'Chrome'],
  [/\bVersion\/[\d.]+.*Safari\//, 'Safari'], [/^curl\//, 'curl']
]
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone|\biPod/, 'iOS'], [/\biPad/, 'iPadOS'], [/\bAndroid/, 'Android'], [/\bCrOS/, 'ChromeOS'], [/\bWindows/, 'Windows'],
  [/\bMac OS X|\bMacintosh/, 'macOS'], [/\bSteamDeck|\bSteamOS/, 'SteamOS'], [/\bLinux/, 'Linux']
]

const findName = (names: readonly (readonly [RegExp, string])[], text: string): string | null =>
  names.find(([pattern]) => pattern.test(text))?.[1] ?? null

/** Apps without the name of a browser call themselves by the first word. */
const firstWord = (text: string): string | null => /^([\w .-]{2,40}?)(?:\/|$)/.exec(text)?.[1] ?? null

/** Reads the header with which browsers and apps introduce themselves. */
export function readAgent (userAgent: string): Agent {
  const isBrowser = userAgent.startsWith('Mozilla/')
  return {
    app: findName(APPS, userAgent) ?? (isBrowser ? null : firstWord(userAgent)),
    system: findName(SYSTEMS, userAgent),
    isPhone: /\bMobile\b|\biPhone|\bAndroid/.test(userAgent)
  }
}
