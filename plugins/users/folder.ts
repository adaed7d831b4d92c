/** What a user uploads lies here, below the folder `assets` of the data directory. */
export const userFolder = (userId: number): string => `users/${Buffer.from(`User:${userId}`).toString('hex')}`
