/** Returns the path of a stored file below the base URL, for fields such as `path_manual` that hold only its end. */
export const storedFileOf = (path: string): string => `assets/svc/resources/${path}`
