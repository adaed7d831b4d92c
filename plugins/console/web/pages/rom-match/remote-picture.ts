/** Returns the address at which this server shows a picture of another, because pages load nothing from elsewhere. */
export const remotePicture = (url: string): string => `api/search/picture?${new URLSearchParams({ url }).toString()}`
