import type { Notification } from "./notification.ts";

/** What chats mark a message with. */
export const COLOURS: Readonly<Record<Notification["tone"], { hex: string; rgb: number; card: string }>> = {
  problem: { hex: "#c62828", rgb: 0xc6_28_28, card: "Attention" },
  answered: { hex: "#f9a825", rgb: 0xf9_a8_25, card: "Warning" },
  recovery: { hex: "#2e7d32", rgb: 0x2e_7d_32, card: "Good" },
  note: { hex: "#1565c0", rgb: 0x15_65_c0, card: "Accent" },
};
