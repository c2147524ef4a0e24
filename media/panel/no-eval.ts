/** Imported first: zod must not try whether it may make code from text. The page's policy forbids it and would say so. */
import * as z from 'zod/mini';

z.config({ jitless: true });
