export const told: object[] = []
