import { useEffect, useState } from 'preact/hooks'

/** True while the window fits a media query, such as `(min-width: 60rem)`. */
export function useMedia (query: string): boolean {
  const [fits, setFits] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const follow = () => { setFits(media.matches) }
    follow()
    media.addEventListener('change', follow)
    return () => { media.removeEventListener('change', follow) }
  }, [query])
  return fits
}
