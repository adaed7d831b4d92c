/** One slash, and nothing that a browser drops or takes for a slash. */
const PATH = /^\/(?!\/)[^\\\p{Cc}\p{Cs}]*$/u
/** Segments `.` and `..`, which browsers know encoded too: they would lead out of the path that the server is under. */
const DOTS = /\/(?:\.|%2e){1,2}(?:\/|$)/i

function isPath (text: string): boolean {
  const [path = ''] = text.split(/[?#]/)
  return PATH.test(text) && !DOTS.test(path)
}

function decode (text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Whether a link stays inside the service wherever it is opened, also where it was decoded once on the way. */
export function isInternalLink (link: string): boolean {
  const decoded = decode(link)
  return !/\s/.test(link) && isPath(link) && decoded !== null && isPath(decoded)
}
