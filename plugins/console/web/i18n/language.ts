import { signal } from '@preact/signals'
import { readChoice, storeChoice } from '../choices.ts'
import { normalizeTag, repairLanguage } from './browser-language.ts'
import { en, type Messages } from './en.ts'
import { createFormat } from './format.ts'

/** The languages with their own names. All but English load when they are chosen. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES

const LOADERS: Readonly<Record<Language, () => Promise<Messages>>> = {
  en: async () => en,
  de: async () => (await import('./de.ts')).de
}
const RIGHT_TO_LEFT = new Set<string>(['ar', 'fa', 'he', 'ur'])

const isLanguage = (value: string): value is Language => Object.hasOwn(LANGUAGES, value)

const current = signal({ language: 'en' as Language, messages: en, format: createFormat('en') })

/** The texts of the chosen language. A component that reads them changes with the language. */
export const texts = (): Messages => current.value.messages
/** The formats of the chosen language. */
export const format = () => current.value.format
export const languageOf = (): Language => current.value.language

/** Shows the console in a language from now on. */
export async function chooseLanguage (language: Language): Promise<void> {
  const messages = await LOADERS[language]()
  document.documentElement.lang = language
  document.documentElement.dir = RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr'
  storeChoice('language', language)
  current.value = { language, messages, format: createFormat(language) }
}

/** Loads the language that was chosen before, else the first one of the browser that exists. */
export async function loadLanguage (): Promise<void> {
  repairLanguage(navigator)
  const wanted = [readChoice('language'), ...navigator.languages.map((tag) => normalizeTag(tag).split('-')[0])]
  const language = wanted.find((tag): tag is Language => tag != null && isLanguage(tag)) ?? 'en'
  if (language !== 'en') await chooseLanguage(language)
}
