import { useRef } from 'preact/hooks'

/** A picture that arrives within this time is shown at once: while somebody scrolls, fading covers cost frames. */
const SUDDEN_MS = 150

/** Returns the handler of a picture's load event, which lets a picture fade in that people waited for. */
export function useFadeIn (): (event: { currentTarget: HTMLElement }) => void {
  const since = useRef(0)
  since.current ||= performance.now()
  return ({ currentTarget }) => { if (performance.now() - since.current > SUDDEN_MS) currentTarget.dataset.late = '' }
}
