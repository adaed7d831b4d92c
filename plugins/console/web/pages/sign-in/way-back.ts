/** The view that a person opened before the OpenID provider signed them in. It leads to the start page. */
const KEY = 'svc.way-back'

export function storeWayBack (view: string): void {
  sessionStorage.setItem(KEY, view)
}

/** Returns the stored view once; null without one. */
export function takeWayBack (): string | null {
  const view = sessionStorage.getItem(KEY)
  sessionStorage.removeItem(KEY)
  return view
}
