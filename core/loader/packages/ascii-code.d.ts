export declare function toAscii (code: string): string
