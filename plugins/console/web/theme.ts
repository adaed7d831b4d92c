import { signal } from '@preact/signals'
import { readChoice, storeChoice } from './choices.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = typeof THEMES[number]

const isTheme = (value: string | null): value is Theme => THEMES.some((theme) => theme === value)

export const theme = signal<Theme>('system')

/** Shows the console light, dark, or as the device prefers. */
export function chooseTheme (chosen: Theme): void {
  theme.value = chosen
  document.documentElement.dataset.theme = chosen
  storeChoice('theme', chosen)
}

export function loadTheme (): void {
  const stored = readChoice('theme')
  if (isTheme(stored)) chooseTheme(stored)
}
