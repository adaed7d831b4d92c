/** Choices that belong to this browser and are no secrets: appearance, language, size of covers. */
export type Choice = 'cover-size' | 'language' | 'list-view' | 'theme'

/** Returns a stored choice; null if there is none, or the browser stores nothing. */
export function readChoice (name: Choice): string | null {
  try {
    return localStorage.getItem(`svc.${name}`)
  } catch {
    return null
  }
}

export function storeChoice (name: Choice, value: string): void {
  try {
    localStorage.setItem(`svc.${name}`, value)
  } catch {
    // The choice lasts until the page closes.
  }
}
