import { useState } from 'preact/hooks'

/** Returns the token of the link that opened this page, and removes it from the address and the history. */
export function useLinkToken (): string {
  const [token] = useState(() => {
    const found = new URLSearchParams(location.search).get('token') ?? ''
    // The token is a credential, which must not stay in the history.
    history.replaceState(history.state, '', location.pathname)
    return found
  })
  return token
}
